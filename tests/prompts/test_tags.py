"""Stacks of tags, what is said to a program, names, and languages."""

from __future__ import annotations

import pytest

from biasgraph.errors import InputError
from biasgraph.prompts.kinds import kind_of
from biasgraph.prompts.language import is_foreign, other_script
from biasgraph.prompts.noise import mask_noise
from biasgraph.prompts.subject import find_subject


@pytest.mark.parametrize(
    ("prompt", "masked"),
    [
        ("a (red:1.2) car", "a  red      car"),
        ("((old)) man", "  old   man"),
        ("cat, <lora:x:0.8>, hat", "cat, ,           , hat"),
        ("a man BREAK a hat", "a man ,     a hat"),
        ("a cat --ar 16:9 --v 5", "a cat ," + " " * 14),
        ("a dog, [blurry:sharp:0.3]", "a dog, ,                 "),
        ("tea pot::2 steam", "tea pot,   steam"),
        ("long_hair", "long hair"),
    ],
)
def test_what_is_said_to_a_program_is_masked_in_place(prompt: str, masked: str) -> None:
    assert mask_noise(prompt) == masked
    assert len(masked) == len(prompt)


@pytest.mark.parametrize(
    ("prompt", "subject"),
    [
        ("masterpiece, best quality, 1girl, solo, looking_at_viewer", "1girl"),
        ("(((cat))), sitting on a windowsill, 85mm, f/1.8", "cat"),
        ("score_9, source_anime, 2boys, street", "2boys"),
        ("no humans, old castle, fog", "old castle"),
        ("film still, detective, trench coat, by greg rutkowski", "detective"),
        ("dogs playing poker", "dogs"),
        ("an athlete with intense focus", "an athlete"),
        ("a cook, sharp focus", "a cook"),
        ("a woman in soft focus", "a woman"),
        ("wildlife photo, cheetah running, savanna", "cheetah"),
        ("dreamcore, linocut, empty pool", "empty pool"),
        ("art nouveau, old fisherman, harbor", "old fisherman"),
        ("masterpeice, best qualty, witch, broom", "witch"),
        ("source_pony, rating:safe, 1girl, forest", "1girl"),
        ("walking away, umbrella, rainy street, salaryman", "salaryman"),
        ("full body character sheet, orc bard, cloak", "orc bard"),
        ("stained glass, saint, church", "saint"),
        ("stained glass, roses, church", "stained glass"),
        ("[photo|painting] of a fat monk, cellar", "a fat monk"),
        ("an oil painting in the style of Vermeer, a girl scrolling her phone", "a girl"),
        ("giant mecha, hangar, tiny engineers", "giant mecha"),
        ("husky, snow, blue eyes", "husky"),
        ("an IT specialist in a server room", "an IT specialist"),
        ("a young, tired programmer", "a young, tired programmer"),
        ("a young female and tired programmer", "a young female and tired programmer"),
        ("creature design, friendly owl, moss", "friendly owl"),
        ("a traffic light hanging over a street", "a traffic light"),
        ("Cat, [day:night:0.5]", "Cat"),
        ("oil on canvas, stormy sea, ship", "stormy sea"),
        ("solar panel, desert, sun", "solar panel"),
        ("dark fantasy, gothic cathedral, crows", "gothic cathedral"),
        ("red dress, product photo, white background", "red dress"),
    ],
)
def test_subjects_among_tags(prompt: str, subject: str) -> None:
    assert find_subject(prompt).text == subject


@pytest.mark.parametrize(
    ("prompt", "kind", "place"),
    [
        ("a mother-to-be folding clothes", "person", False),
        ("an ex-con at a bus stop", "person", False),
        ("1967 Shelby Mustang on an airstrip", "thing", False),
        ("grilled salmon with lemon", "thing", False),
        ("the surface of mars", "thing", True),
        ("the surface of a table", "thing", False),
        ("a carousel horse", "thing", False),
        ("a lone wolf howling", "animal", False),
        ("northern lights over a lake", "thing", True),
        ("a piñata", "thing", False),
        ("Lake Xyzzy at dawn", "thing", True),
    ],
)
def test_what_a_subject_is(prompt: str, kind: str, place: bool) -> None:
    subject = find_subject(prompt)
    assert (subject.kind, subject.place) == (kind, place)


@pytest.mark.parametrize("prompt", ["the ghost of Abraham Lincoln", "Abraham Lincoln's ghost"])
def test_a_likeness_of_one_person_is_that_person(prompt: str) -> None:
    assert find_subject(prompt).named


@pytest.mark.parametrize(
    ("prompt", "reason", "advice"),
    [
        ("photo of sks woman, office", "a model was taught", "brackets"),
        ("un pêcheur breton réparant ses filets", "English", "English"),
        ("1girl, 1boy, beach", "several subjects", "brackets"),
        ("8k, octane render, volumetric fog", "only a style", "name a person"),
        ("retro collage, pink and teal", "only a style", "name a person"),
        ("Zorbluigo at a table", "a name perhaps", "brackets"),
        ("white shirt, black hair, smile", "only a style", "name a person"),
        ("long hair, red eyes, beach", "only a style", "name a person"),
        ("mature male, grey hair, office", "'mature male' may be its subject", "brackets"),
        ("school rooftop, sunset, boy and girl", "may be its subject", "brackets"),
        ("gato negro", "not seem to be English", "write it in English"),
        ("oude man met hoed", "not seem to be English", "write it in English"),
        ("arts martiaux", "no list has", "brackets"),
        ("la playa", "not seem to be English", "write it in English"),
        ("blue eyes, long hair, smile", "only a style, a mood or features", "name a person"),
        ("Negative prompt: bad hands", "must not show", "name a person"),
        ("freedom", "nothing that a picture shows", "name a person"),
        ("cloud computing", "one notion", "name a person"),
        ("a cat's paw", "only a part of somebody", "name whose it is"),
        ("una enfermera en el hospital", "not seem to be English", "write it in English"),
        ("старый рыбак", "written in Cyrillic script", "write it in English"),
        ("wlop, artgerm, loish", "no list has 'wlop'", "brackets"),
    ],
)
def test_refusals_say_why_and_what_to_do(prompt: str, reason: str, advice: str) -> None:
    with pytest.raises(InputError) as caught:
        find_subject(prompt)
    assert reason in str(caught.value)
    assert advice in str(caught.value)


def test_brackets_that_lower_a_weight_mark_no_subject() -> None:
    with pytest.raises(InputError, match="may be a weight of Stable Diffusion"):
        find_subject("a woman, (freckles:0.8), [smile], natural light")
    with pytest.raises(InputError, match="brackets must enclose exactly one subject"):
        find_subject("a [[woman]] on a beach")
    assert find_subject("a [woman], (freckles:0.8)").text == "a woman"


@pytest.mark.parametrize(
    ("prompt", "named"),
    [
        ("Frida Kahlo with a parrot", True),
        ("young elvis on stage", True),
        ("a young Albert Einstein", True),
        ("Mr. Bean", True),
        ("Queen Victoria on a bike", True),
        ("darth vader washing dishes", True),
        ("Napoleon on a horse", True),
        ("the Beatles crossing a road", True),
        ("Link from Zelda on a horse", True),
        ("the French painter", False),
        ("Student from Ghana", False),
        ("a Batman cosplayer", False),
        ("Golden Retriever in a park", False),
        ("Barber giving a haircut", False),
        ("a crane at a lake", False),
        ("a woman called Maria", False),
    ],
)
def test_names(prompt: str, named: bool) -> None:
    assert find_subject(prompt).named is named


@pytest.mark.parametrize(
    ("before", "noun", "others", "kind"),
    [
        ("", "bear", (), "animal"),
        ("teddy", "bears", (), "thing"),
        ("", "jaguar", ("river",), "animal"),
        ("", "jaguar", ("parked",), "thing"),
        ("wolf", "pack", (), "animal"),
        ("", "treehouse", (), "thing"),
        ("", "justice", (), "abstract"),
        ("", "driver", (), "person"),
        ("traffic", "controller", (), "person"),
        ("", "controller", (), "thing"),
        ("", "hanger", (), "thing"),
        ("", "zorblax", (), "unknown"),
    ],
)
def test_kinds(before: str, noun: str, others: tuple[str, ...], kind: str) -> None:
    assert kind_of(noun, before, others) == kind


def test_languages() -> None:
    assert is_foreign(["ein", "alter", "mann", "mit", "hut"])
    assert is_foreign(["bäckerin", "in", "ihrer", "backstube"])
    assert not is_foreign(["an", "old", "man", "with", "a", "hat"])
    assert not is_foreign(["a", "chica", "in", "a", "flamenco", "dress"])
    assert other_script("ein Mann") is None
    assert other_script("猫 on a sofa") is None
    assert other_script("猫がソファで寝ている, 8k") == "Chinese characters"
