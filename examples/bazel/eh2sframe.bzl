# SPDX-License-Identifier: MIT
"""SFrame as a step of a Bazel build: a rule that converts what another one has linked."""

def _eh2sframe_binary_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    args = ctx.actions.args()
    args.add_all(ctx.attr.options)
    args.add(ctx.file.src)
    args.add(out)
    ctx.actions.run(
        executable = ctx.executable.eh2sframe,
        arguments = [args],
        inputs = [ctx.file.src],
        outputs = [out],
        mnemonic = "Eh2sframe",
        progress_message = "Making SFrame for %s" % ctx.label,
    )
    runfiles = ctx.runfiles(files = [out]).merge(ctx.attr.src[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = out, files = depset([out]), runfiles = runfiles)]

eh2sframe_binary = rule(
    implementation = _eh2sframe_binary_impl,
    doc = "A program or shared library with SFrame data, from one without; bazel run works as for src.",
    attrs = {
        "src": attr.label(
            allow_single_file = True,
            mandatory = True,
            doc = "What was linked: a cc_binary, rust_binary, or any target that is one ELF file.",
        ),
        "options": attr.string_list(doc = "Options of eh2sframe-convert(1), such as --format=3."),
        "eh2sframe": attr.label(
            default = "//:eh2sframe",
            executable = True,
            cfg = "exec",
            doc = "The command, which runs where the build runs.",
        ),
    },
    executable = True,
)
