"""Sources of packages for tests of the scripts that build one: small ones, which are built in a moment."""

import pathlib

import job


class Source:
    """Its folder, what was done with it, and where the script puts what it makes."""

    def __init__(self, space, script, made, variables):
        """Of the script at this path, which makes a folder of this name; with these variables beside the usual ones."""
        self.space, self.folder, self.history = space, space.directory / "source", space.directory / "history"
        self.script, self.prefix = job.ROOT / script, space.directory / "cache" / made
        self.variables = {"EPOP_CACHE": space.directory / "cache", "MPICC": None, "MPIEXEC": None, **variables}
        self.folder.mkdir()

    def write(self, name, text, **words):
        for word, value in {"HISTORY": self.history, **words}.items():
            text = text.replace(f"@{word}@", str(value))
        (self.folder / name).write_text(text)

    def works(self):
        """Until then it does not compile."""
        pathlib.Path(f"{self.history}.works").touch()

    def build(self, *words):
        return self.space.start([self.script, *words], env=self.variables).wait()


def check_where(source, *words):
    result = source.build(*words, "where")
    assert result.out == f"{source.prefix}\n" and not source.history.exists(), result


def check_failed_and_made_once(source, package, *words):
    """A build that fails goes on with the next call, and is made once."""
    result = source.build(*words)
    assert result.status == 1 and "it does not compile" in result.err and f"{package}: 'compile' failed after" in result.err, result
    assert not source.prefix.exists()
    source.works()
    for _ in range(2):
        result = source.build(*words)
        assert result.status == 0 and result.out == f"{source.prefix}\n", result


def check_not_taken(source, *words):
    """What does not pass the script's own check."""
    result = source.build(*words)
    assert result.status == 1 and "'check' failed" in result.err and not (source.prefix / "recipe").exists(), result


def check_without_version(space, script, variable, name, *words):
    """Where apt knows none."""
    nothing = space.directory / "apt.conf"
    nothing.write_text(f'Dir::State::lists "{space.directory}/lists";\nDir::State::status "/dev/null";\nDir::Cache "{space.directory}";\n')
    result = space.start([job.ROOT / script, *words], env={"APT_CONFIG": nothing, variable: None}).wait()
    assert result.status == 1 and f"{name}: no version known" in result.err, result
