# SPDX-License-Identifier: MIT
"""What a tree of files is: contents, kinds, modes, owners, times, extended attributes, links."""
import hashlib
import os
import stat


def of_file(path, st):
    what = {"kind": stat.S_IFMT(st.st_mode), "mode": stat.S_IMODE(st.st_mode), "owner": (st.st_uid, st.st_gid),
            "device": st.st_rdev, "xattrs": {}}
    for name in os.listxattr(path, follow_symlinks=False):
        what["xattrs"][name] = os.getxattr(path, name, follow_symlinks=False)
    if stat.S_ISREG(st.st_mode):
        what["time"] = st.st_mtime_ns
        with open(path, "rb") as file:
            what["contents"] = hashlib.file_digest(file, "sha256").hexdigest()
    elif stat.S_ISLNK(st.st_mode):
        what["time"] = st.st_mtime_ns
        what["contents"] = os.readlink(path)
    return what


def of_tree(top):
    """A dictionary of paths below top, each with a leading slash. Times of directories are left out: a file that is
    exchanged changes the directory's. The names of one file are in "names"."""
    tree, inodes = {}, {}
    device = os.lstat(top).st_dev
    pending = [top]
    while pending:
        where = pending.pop()
        for entry in os.scandir(where):
            st = entry.stat(follow_symlinks=False)
            if st.st_dev != device:
                continue
            key = entry.path[len(top):]
            tree[key] = of_file(entry.path, st)
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            else:
                inodes.setdefault(st.st_ino, []).append(key)
    for names in inodes.values():
        for name in names:
            tree[name]["names"] = sorted(names)
    return tree


def differences(old, new, ignored=()):
    """Paths with what differs there: the names of attributes, "missing" or "new"."""
    found = {}
    for path in sorted(old.keys() | new.keys()):
        if path not in new:
            found[path] = ["missing"]
        elif path not in old:
            found[path] = ["new"]
        else:
            parts = [part for part in old[path].keys() | new[path].keys()
                     if part not in ignored and old[path].get(part) != new[path].get(part)]
            if parts:
                found[path] = sorted(parts)
    return found
