"""Classifiers of discrete columns with a parent or more beside the class: SPODE, TAN, AODE, A2DE, KDB, SKDB."""
