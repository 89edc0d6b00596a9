"""The command ``bayeswater``: one file for each verb, imported when the verb is asked for."""
