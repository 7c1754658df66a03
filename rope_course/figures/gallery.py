"""Draw figures into files, and the page that shows them all."""

import re

from rope_course.figures.picture import FIGURES
from rope_ref.files import write_file

__all__ = []


def gallery(drawn):
    """Write the page that shows drawn figures: message, picture, alt text, and the call that draws it."""
    parts = [
        "# Figures",
        "Drawn by `make figures`. Each is one function of `rope_course.figures` that returns a `Picture`.",
    ]
    for name, (file, *words) in drawn.items():
        caption, alt = (re.sub(r"([\\`*_\[\]<$])", r"\\\1", text) for text in words)  # signs that Markdown would read
        call = f"```python\nfrom rope_course.figures import {name}\n\n{name}()\n```"
        parts += [f"## {caption}", f"![{alt}]({file})", alt, call]
    return "\n\n".join(parts) + "\n"


def draw_into(folder, names, format=None):
    """Draw figures into files and yield each path; of all figures together also the page that shows them."""
    drawn = {}
    for name in names or FIGURES:
        picture = FIGURES[name]()
        path = folder / f"{name}.{format or FIGURES[name].format}"
        picture.save(path)
        yield path
        drawn[name] = path.name, picture.caption, picture.alt
    if not names and format != "pdf":  # a page cannot show a PDF
        write_file(folder / "README.md", gallery(drawn).encode())
        yield folder / "README.md"
