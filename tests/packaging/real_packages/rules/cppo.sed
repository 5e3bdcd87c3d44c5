# The source is one of Debian 12. OCaml has its files elsewhere in Debian 13, and dune takes no relative path here.
s/--libdir=\.\.\$\(OCAML_STDLIB_DIR\)/--libdir=\/usr\/lib\/ocaml/
