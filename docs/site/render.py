"""Turns the pages of the guide into HTML, and checks their links."""

from __future__ import annotations

import dataclasses
import html
import json
import pathlib
import re
import shutil
import tomllib

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

HERE = pathlib.Path(__file__).parent
DOCS = HERE.parent
ROOT = DOCS.parent
PLAYGROUND = '<iframe class="playground" src="playground.html" title="The playground: press objects into tactile sensors" loading="lazy"></iframe>'


@dataclasses.dataclass
class Page:
    """One page: its source, and its place in the table of contents."""

    path: str  # relative to docs, with .md
    title: str
    part: str

    @property
    def target(self) -> str:
        return self.path.removesuffix(".md") + ".html"

    @property
    def source(self) -> pathlib.Path:
        return DOCS / self.path


def contents() -> list[Page]:
    """The pages in the order of `SUMMARY.md`, which has the format of mdBook."""
    pages, part = [], ""
    for line in (DOCS / "SUMMARY.md").read_text().splitlines():
        if line.startswith("# "):
            part = line[2:]
        elif found := re.match(r"(?:- )?\[(.+)\]\((.+)\)$", line.strip()):
            pages.append(Page(found[2], found[1], "" if part == "Summary" else part))
    return pages


def slug(text: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def repository() -> str:
    return re.search(r'^repository = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


class Site:
    """The pages of a site, and what is wrong with their links."""

    def __init__(self, out: pathlib.Path, figures: pathlib.Path) -> None:
        self.out, self.figures = out, figures
        self.pages = contents()
        self.markdown = MarkdownIt("commonmark", {"html": True, "highlight": colour}).enable(["table", "strikethrough"])
        self.tokens = {page.path: self.markdown.parse(page.source.read_text()) for page in self.pages}
        self.anchors = {path: anchors_of(tokens) for path, tokens in self.tokens.items()}
        self.wrong: list[str] = []

    def write(self) -> list[str]:
        """Writes all pages; returns what is wrong."""
        frame = (HERE / "page.html").read_text()
        index = []
        for number, page in enumerate(self.pages):
            body = self.body(page)
            up = "../" * page.path.count("/")
            near = [self.pages[i] if 0 <= i < len(self.pages) else None for i in (number - 1, number + 1)]
            steps = [f'<a rel="{rel}" href="{up}{to.target}">{mark}</a>' if to else "<span></span>" for rel, to, mark in
                     [("prev", near[0], f"← {near[0] and near[0].title}"), ("next", near[1], f"{near[1] and near[1].title} →")]]
            values = {"title": html.escape(page.title), "up": up, "nav": self.nav(page, up), "body": body, "steps": "".join(steps)}
            text = re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], frame)
            target = self.out / page.target
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            plain = html.unescape(re.sub(r"<(style|iframe).*?</\1>|<[^>]+>", " ", body, flags=re.S))
            index.append({"title": page.title, "url": page.target, "text": " ".join(plain.split())})
        (self.out / "search-index.js").write_text(f"const PAGES = {json.dumps(index, ensure_ascii=False)};\n")
        styles = (HERE / "style.css").read_text() + HtmlFormatter(style="default").get_style_defs(".code")
        dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
        (self.out / "style.css").write_text(f"{styles}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n")
        shutil.copy(HERE / "search.js", self.out / "search.js")
        return self.wrong + dead_links(self.out)

    def nav(self, here: Page, up: str) -> str:
        """The table of contents."""
        lines, part = [], None
        for page in self.pages:
            if page.part != part:
                part = page.part
                lines.append(f"<h2>{html.escape(part)}</h2>" if part else "")
            mark = ' aria-current="page"' if page is here else ""
            lines.append(f'<a href="{up}{page.target}"{mark}>{html.escape(page.title)}</a>')
        lines.append("<h2>API</h2>")
        lines += [f'<a href="{up}{to}">{name}</a>' for name, to in API if (self.out / to).exists()]
        return "\n".join(lines)

    def body(self, page: Page) -> str:
        """The HTML of a page, with its links checked and led to where they are on the site."""
        tokens = self.tokens[page.path]
        if any(token.type == "code_block" or (token.type == "fence" and token.level > 0) for token in tokens):
            self.wrong.append(f"{page.path}: an indented block is not run; write ``` at the start of a line")
        for token, after in zip(tokens, [*tokens[1:], None]):
            if token.type == "heading_open" and after is not None:
                token.attrSet("id", slug(text_of(after)))
            for child in token.children or []:
                if child.type == "link_open":
                    child.attrSet("href", self.link(page, str(child.attrGet("href"))))
                elif child.type == "image":
                    child.attrSet("src", self.image(page, str(child.attrGet("src"))))
                    child.attrSet("loading", "lazy")
        text = self.markdown.renderer.render(tokens, self.markdown.options, {})
        text = text.replace("<!-- claims -->", self.markdown.render(claims()) if "<!-- claims -->" in text else "")
        text = re.sub(r"<td([^>]*)>(.*?)</td>", cell, text, flags=re.S)
        text = text.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        return text.replace("<!-- playground -->", PLAYGROUND)

    def link(self, page: Page, href: str) -> str:
        if href.startswith(repository()):
            inside = re.sub(r"^/(?:blob|tree|raw)/main/", "", href.removeprefix(repository()).split("#")[0])
            if inside and not inside.startswith("/") and not (ROOT / inside).exists():
                self.wrong.append(f"{page.path}: {href}: {inside} is not in the repository")
            return href
        if re.match(r"[a-z]+:", href):
            return href
        to, _, anchor = href.partition("#")
        path = (page.source.parent / to).resolve() if to else page.source
        known = path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else None
        if known in self.tokens:
            if anchor and anchor not in self.anchors[known]:
                self.wrong.append(f"{page.path}: {href}: there is no such heading")
            return href.replace(".md", ".html", 1)
        if not path.exists():
            self.wrong.append(f"{page.path}: {href} does not exist")
            return href
        kind = "tree" if path.is_dir() else "blob"
        return f"{repository()}/{kind}/main/{path.relative_to(ROOT).as_posix()}" + (f"#{anchor}" if anchor else "")

    def image(self, page: Page, source: str) -> str:
        """Copies an image of the repository, or one that a block of the page has made."""
        if re.match(r"[a-z]+:", source):
            return source
        name = page.path.removesuffix(".md").replace("/", "-")
        for folder in (page.source.parent, self.figures / name):
            if (folder / source).is_file():
                to = f"figures/{name}-{source.replace('/', '-').replace('..-', '')}"
                (self.out / "figures").mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / source, self.out / to)
                return "../" * page.path.count("/") + to
        self.wrong.append(f"{page.path}: the image {source} is in neither the repository nor what the page makes")
        return source


def dead_links(site: pathlib.Path) -> list[str]:
    """Links of the written pages, and of the Python reference, that lead nowhere inside of the site."""
    pages = [path for path in site.rglob("*.html") if path.relative_to(site).parts[0] != "rust" and path.name != "playground.html"]
    texts = {path.resolve(): re.sub(r"<script.*?</script>", "", path.read_text(), flags=re.S) for path in pages}
    names = {path: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for path, text in texts.items()}
    dead = []
    for path, text in texts.items():
        for link in set(re.findall(r'\b(?:href|src)="([^"]+)"', text)):
            to, _, anchor = html.unescape(link).partition("#")
            if re.match(r"[a-z]+:|//", to):
                continue
            target = (path.parent / to).resolve() if to else path
            # pdoc links to members of other packages that it does not show.
            known = names.get(target, {anchor}) if target != path or site.resolve() / "python" not in path.parents else {anchor}
            if not target.exists() or (anchor and anchor not in known):
                dead.append(f"{path.relative_to(site.resolve())}: the link {link} leads nowhere")
    return sorted(dead)


def claims() -> str:
    """The tables of the papers' claims, from `experiments/claims.toml`."""
    file = tomllib.loads((ROOT / "experiments/claims.toml").read_text())
    lines = []
    for paper in file["paper"]:
        lines += [f"\n## {paper['authors'].split(',')[0]} et al. {paper['year']}\n", f"*{paper['title']}*. Skin: {paper['skin']}.\n"]
        lines += ["| where | claim | published | checked by | where we differ |", "|---|---|---|---|---|"]
        for claim in [claim for claim in file["claim"] if claim["paper"] == paper["key"]]:
            name = claim.get("experiment")
            by = f"[{name}]({repository()}/tree/main/experiments/{name})" if name else f"`{claim['checked_by']}`" if "checked_by" in claim else "not checkable"
            cells = [claim["place"], claim["says"], claim.get("number", ""), by, " ".join(filter(None, [claim.get("out_of_reach"), claim.get("beside")]))]
            lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


API = [("Python", "python/dermis.html"), ("Rust", "rust/dermis/index.html")]


def colour(code: str, language: str, options: str) -> str:
    """A block, coloured, under the name of the file that it is."""
    name = (language.split() or ["text"])[0]
    lexer = get_lexer_by_name({"sh": "bash", "csv": "text"}.get(name, name))
    inner = highlight(code, lexer, HtmlFormatter(nowrap=True))
    named = re.search(r"file=(\S+)", options)
    name = f' data-file="{html.escape(named[1])}"' if named else ""
    return f'<pre class="code"{name}><code>{inner}</code></pre>'


def cell(found: re.Match[str]) -> str:
    """A cell of a table, marked if its text needs room: on a phone the table is then wider than the screen, and scrolls."""
    length = len(html.unescape(re.sub(r"<[^>]+>", "", found[2])))
    mark = ' class="long"' if length > 36 else ' class="medium"' if length > 12 else ""
    return f"<td{found[1]}{mark}>{found[2]}</td>"


def anchors_of(tokens: list[Token]) -> set[str]:
    pairs = zip(tokens, tokens[1:])
    return {slug(text_of(after)) for token, after in pairs if token.type == "heading_open"}


def text_of(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])
