#!/bin/sh
# SPDX-License-Identifier: MIT
# `meson dist` runs this before it packs: the archive of a commit then has the same bytes wherever and whenever root makes it.
# Times are the commit's, and modes do not depend on the umask.
set -eu
time=$(git -C "$MESON_SOURCE_ROOT" log -1 --format=%ct)
chmod -R u+rwX,go=rX,a-s "$MESON_DIST_ROOT"
find "$MESON_DIST_ROOT" -exec touch -h -d "@$time" {} +
