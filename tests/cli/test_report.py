"""`fastcrf report` writes a whole page, or nothing."""


def test_the_command_writes_the_page(run, corpus, model, tmp_path):
    result = run("report", model, corpus.parent / "dev.txt", "-o", tmp_path / "report.html", "--title", "Chunks")
    assert (result.exit_code, result.stdout) == (0, "")
    text = (tmp_path / "report.html").read_text()
    assert "Chunks" in text
    assert "B-NP" in text
    assert run("report", model, corpus.parent / "dev.txt", "-o", "-").stdout.startswith("<!doctype html>")


def test_a_report_that_cannot_be_made_leaves_the_old_file(run, model, tmp_path):
    (tmp_path / "report.html").write_text("old")
    (tmp_path / "bad.txt").write_text("the D\n\nthe D B-NP\n")
    result = run("report", model, tmp_path / "bad.txt", "-o", tmp_path / "report.html")
    assert result.exit_code == 1
    assert "bad.txt:" in result.stderr
    assert (tmp_path / "report.html").read_text() == "old"
