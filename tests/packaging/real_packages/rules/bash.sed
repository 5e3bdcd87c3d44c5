# The own tests, in the rule that builds.
s/^\t-sh debian\/locale-gen$/\tdh_eh2sframe_tree_convert\n&/
s/^\ttouch stamps\/stamp-check$/\tdh_eh2sframe_tree_restore\n&/
