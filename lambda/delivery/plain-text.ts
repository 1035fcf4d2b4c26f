/** Direction marks, embeddings, overrides and isolates, and every other invisible but joiners. */
const invisible = /(?![\u{200C}\u{200D}])\p{Cf}/gu;
const breaks = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
/** Scripts that are written from right to left. */
const rightToLeft =
  /[\u{590}-\u{8FF}\u{FB1D}-\u{FDFF}\u{FE70}-\u{FEFE}\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const address = /[^\s<>()|,;]+@[^\s<>()|,;]+/gu;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * A partner's text as it may stand in a row: on one line, without what could turn the rest of the
 * line around, forge a column or a row, or be an e-mail address; at most `length` UTF-16 units and
 * two more. Text from right to left is isolated, so that the columns stay in their order.
 */
export function plain(text: string, length: number): string {
  // Of a name of any length, what could be shown: the expressions below are quadratic.
  const safe = text
    .slice(0, length * 4)
    .toWellFormed()
    .replace(invisible, '')
    .replace(breaks, ' ')
    .replaceAll('|', '/')
    .replace(address, '(address)')
    .trim();
  const shown = cut(safe, length);
  return rightToLeft.test(shown) ? `\u{2068}${shown}\u{2069}` : shown;
}

/** At most `length` UTF-16 units, and never within what a reader sees as one character. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  let kept = '';
  for (const { segment } of graphemes.segment(text.slice(0, length * 2))) {
    if (kept.length + segment.length > length - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** Without accents; `undefined` when that does not make it printable ASCII. */
export function ascii(text: string): string | undefined {
  const bare = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  return /^[\x20-\x7E]+$/.test(bare) ? bare : undefined;
}
