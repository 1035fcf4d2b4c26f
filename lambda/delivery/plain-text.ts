/**
 * Direction marks, embeddings, overrides and isolates, and every other invisible but joiners; and the
 * two that XML 1.0 does not allow, because SNS refuses a message that has one.
 */
const invisible = /(?![\u{200C}\u{200D}])\p{Cf}|[\u{FFFE}\u{FFFF}]/gu;
const breaks = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
/** Scripts that are written from right to left. */
const rightToLeft =
  /[\u{590}-\u{8FF}\u{FB1D}-\u{FDFF}\u{FE70}-\u{FEFE}\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
/**
 * E-mail addresses, by any character that is read as an at sign. With spaces or comments beside it
 * (RFC 5322, 4.4) only before a name with a dot: "CPR @ Home" is none.
 */
const address =
  /(?:[^\s<>()|,;]+ ?)?(?:\([^()]*\) ?)*[@＠﹫] ?(?:\([^()]*\) ?)*[^\s<>()|,;.．。｡․﹒]+[.．。｡․﹒][^\s<>()|,;]+|[^\s<>()|,;]+[@＠﹫][^\s<>()|,;]+/gu;
/** Whoever has a shorter identifier shares it with too many words. */
const minIdentifier = 4;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * A partner's text as it may stand in a row: on one line, without what could turn the rest of the
 * line around, forge a column or a row, or be an e-mail address; at most `length` UTF-16 units and
 * two more. Text from right to left is isolated, so that the columns stay in their order.
 *
 * @param identifier is not shown: in upper or lower case, where it is a word by itself
 */
export function plain(text: string, length: number, identifier = ''): string {
  // Of a name of any length, what could be shown: the expressions are quadratic.
  const readable = without(identifier, clean(text.slice(0, length * 4)));
  const shown = cut(withoutAddresses(readable).trim(), length);
  return rightToLeft.test(shown) ? `\u{2068}${shown}\u{2069}` : shown;
}

function clean(text: string): string {
  return text.toWellFormed().replace(invisible, '').replace(breaks, ' ').replaceAll('|', '/');
}

/** Both as they would be shown: in the raw text, the identifier could be hidden among invisibles. */
function without(identifier: string, text: string): string {
  const bare = clean(identifier).trim();
  if (bare.length < minIdentifier || !text.toLowerCase().includes(bare.toLowerCase())) return text;
  const escaped = bare.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
  const word = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}\\p{M}])`, 'giu');
  return text.replace(word, '').replace(breaks, ' ');
}

function withoutAddresses(text: string): string {
  return /[@＠﹫]/.test(text) ? text.replace(address, '(address)') : text;
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

/** Without accents and addresses; `undefined` when that does not make it printable ASCII. */
export function ascii(text: string): string | undefined {
  const bare = withoutAddresses(text.normalize('NFKD').replace(/\p{M}+/gu, ''));
  return /^[\x20-\x7E]+$/.test(bare) ? bare : undefined;
}
