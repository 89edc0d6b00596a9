"""How a cell becomes a number, a state, a date or words, for all models.

A user's table is a `RawTable` (columns as they came) or a matrix; `column_kinds` looks at what is in a column,
`column_plan` holds how each is read. Cells are then encoded: as numbers (`matrix_reading`, `number_table`), as states
(`coded_table`, `known_labels`; numbers cut by `discretising`), as days (`dates`) or as counted words (`text`, `words`).
"""
