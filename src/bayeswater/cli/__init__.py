"""The command ``bayeswater``: a file for each verb, or for a few of one subject, imported when it is asked for."""
