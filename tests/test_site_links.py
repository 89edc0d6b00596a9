"""The check of the built site tells links that lead nowhere from those that lead to a page or to a place on it."""

from tools.pages.check_links import broken


def test_a_link_is_broken_where_its_file_or_its_anchor_is_not_there(tmp_path):
    (tmp_path / "zh").mkdir()
    (tmp_path / "zh/先验.html").write_text('<h1 id="prior">先验</h1><a href="../index.html#top">English</a>')
    (tmp_path / "index.html").write_text(
        '<p id="here"></p><a href="#here"></a><a href="zh/%E5%85%88%E9%AA%8C.html#prior"></a>'
        '<a href="https://example.org/elsewhere"></a>'
        '<a href="#gone"></a><a href="zh/先验.html#likelihood"></a><img src="gone.svg">'
        '<a href="#here"><code class="py py-obj">fit</code></a>\n<code class="py py-obj">fitted</code>'
    )
    assert broken(tmp_path) == [
        "index.html -> #gone",
        "index.html -> a name at line 2 that is no public one",
        "index.html -> gone.svg",
        "index.html -> zh/先验.html#likelihood",
    ]
