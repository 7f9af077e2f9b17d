# SPDX-License-Identifier: MIT
"""The recipes for Spack and conda, as far as they can be judged without either: they can be read, name
options that there are, and the version of meson.build."""
import re
import types

from harness import *
from harness import artefacts

PACKAGING = os.path.join(artefacts.ROOT, "packaging")
DIRECTIVES = ("depends_on", "extends", "license", "requires", "variant", "version")


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r"^  version: '(.*)'", read(artefacts.ROOT, "meson.build"), re.M).group(1)


def check_options(text):
    known = set(re.findall(r"^option\('(\w+)'", read(artefacts.ROOT, "meson_options.txt"), re.M))
    known |= {"buildtype", "debug", "optimization"}
    equal("options that meson_options.txt lacks", set(re.findall(r"-D(\w+)=", text)) - known, set())


@case
def spack():
    text = read(PACKAGING, "spack", "package.py")
    said = []
    fake = types.ModuleType("spack.package")
    for name in DIRECTIVES:
        setattr(fake, name, lambda *words, name=name, **more: said.append((name, words, more)))
    fake.MesonPackage = type("MesonPackage", (), {})
    fake.which = None
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": fake})
    scope = {}
    exec(compile(text, "package.py", "exec"), scope)
    check("Battprof" in scope, "no class Battprof")
    versions = [words[0] for name, words, _ in said if name == "version"]
    check(version() in versions, "%s is not among %s" % (version(), versions))
    variants = {words[0] for name, words, _ in said if name == "variant"}
    used = set(re.findall(r"[\"']\+(\w+)", text))
    equal("variants that are none", used - variants, set())
    package = scope["Battprof"]()
    package.spec = types.SimpleNamespace(satisfies=lambda text: text != "+python")
    check_options(" ".join(package.meson_args()) + text)


@case
def conda():
    text = read(PACKAGING, "conda", "meta.yaml")
    script = "import jinja2, json, re, sys, yaml\n" \
        "def load(load_file, regex_pattern, from_recipe_dir=False):\n" \
        "    return re.search(regex_pattern, open(sys.argv[2] + '/' + load_file).read())\n" \
        "text = jinja2.Template(open(sys.argv[1]).read()).render(load_file_regex=load, " \
        "compiler=lambda name: name + '_compiler')\n" \
        "print(json.dumps(yaml.safe_load(text)))"
    done = artefacts.run([PYTHON, "-c", script, os.path.join(PACKAGING, "conda", "meta.yaml"),
                          os.path.join(PACKAGING, "conda")], artefacts.environment())
    if "No module named" in done.stderr:
        raise Skip("no jinja2 and yaml; Debian: python3-jinja2, python3-yaml")
    check(done.returncode == 0, done.stderr)
    recipe = json.loads(done.stdout)
    equal("version", str(recipe["package"]["version"]), version())
    for part in ("source", "build", "requirements", "test", "about"):
        check(part in recipe, "no part " + part)
    check_options(text)


main()
