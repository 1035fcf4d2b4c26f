/**
 * Signs whose Unicode decomposition does not begin with ASCII, and their usual spelling in ASCII.
 */
const written: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  ł: 'l',
  Ł: 'L',
  ħ: 'h',
  Ħ: 'H',
  ı: 'i',
  '×': 'x',
  '\u2212': '-',
  '\u2044': '/',
};

/**
 * A name in ASCII: a dash for a dash, plain quotes for typographic ones, letters without their
 * accents. Other signs are left out.
 *
 * @returns undefined if a letter or a digit would be lost: the rest would be another name
 */
export function inAscii(name: string): string | undefined {
  if (/^[\x20-\x7E]*$/.test(name)) return name;
  const carried = name
    .replace(/[™℠]/gu, '')
    .normalize('NFKD')
    .replace(/\p{Pd}/gu, '-')
    .replace(/[‘’‚‛‹›′ʹʻʼ]/gu, "'")
    .replace(/[“”„‟«»″]/gu, '"')
    .replace(/[^\x20-\x7E]/gu, (one) => written[one] ?? one)
    .replace(/\p{M}+/gu, '');
  if (/(?![\x20-\x7E])[\p{L}\p{N}]/u.test(carried)) return undefined;
  return carried
    .replace(/[^\x20-\x7E]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim();
}
