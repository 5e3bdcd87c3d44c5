# SPDX-License-Identifier: MIT
# debhelper sequence add-on: dh $@ --with eh2sframe, or Build-Depends: dh-sequence-eh2sframe.

use strict;
use warnings;
use Debian::Debhelper::Dh_Lib;

# After dh_dwz, which fails on converted files: dh has it before dh_strip. After dh_strip: its debug
# packages match by build-id and .gnu_debuglink, and both are kept. Before dh_md5sums.
insert_after('dh_strip', 'dh_eh2sframe');

1;
