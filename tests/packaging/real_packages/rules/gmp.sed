# The own tests, in the rule that builds. Their programs are built before.
s/^\t\$\(MAKE_CHECK\) -C build$/\t$(MAKE_CHECK) -C build TESTS=\n\tdh_eh2sframe_tree_convert\n&\n\tdh_eh2sframe_tree_restore/
