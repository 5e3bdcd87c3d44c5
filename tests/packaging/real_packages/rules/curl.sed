# Both of its builds, but a part of the tests.
s/TFLAGS="\$\(TESTS_GENERAL_PARAMETERS\)"/TFLAGS="$(TESTS_GENERAL_PARAMETERS) 1 to 400"/
s/^ifeq \(\$\(filter nocheck,\$\(DEB_BUILD_PROFILES\)\),\)$/ifeq ($(filter nocheck,$(DEB_BUILD_OPTIONS)),)/
