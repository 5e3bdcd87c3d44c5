# The own tests, in the rule that builds.
s/^\t-\$\(MAKE\) test$/\tdh_eh2sframe_tree_convert\n\t$(MAKE) test\n\tdh_eh2sframe_tree_restore/
