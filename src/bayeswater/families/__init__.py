"""The laws that a column can follow: one file each, with all that is known of it; `registry` lists them."""
