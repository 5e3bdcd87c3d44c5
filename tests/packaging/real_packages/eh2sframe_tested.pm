# SPDX-License-Identifier: MIT
# debhelper sequence add-on for this test alone: the programs and libraries of the build tree are converted while the
# package's own tests run (tree.py). Afterwards each of them is as before, for dh_dwz and dh_strip.

use strict;
use warnings;
use Debian::Debhelper::Dh_Lib;

insert_before('dh_auto_test', 'dh_eh2sframe_tree_convert');
insert_after('dh_auto_test', 'dh_eh2sframe_tree_restore');

1;
