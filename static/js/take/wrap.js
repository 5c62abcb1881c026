// Lines of a text that are no wider than they may be. Chinese breaks anywhere, other words at their spaces.

const PIECES = /[\p{Script=Han}，。；：！？、“”（）]|[^\s\p{Script=Han}，。；：！？、“”（）]+\s*|\s+/gu;

// widthOf(text): how wide it is drawn.
export function wrap(text, width, widthOf) {
  const lines = [];
  let line = "";
  for (const piece of text.match(PIECES) ?? []) {
    if (line && widthOf((line + piece).trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += line ? piece : piece.trimStart();
  }
  return line.trim() ? [...lines, line.trimEnd()] : lines;
}
