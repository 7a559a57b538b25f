"""What is proposed for a prompt, axes and questions, and in which words it is asked for."""
