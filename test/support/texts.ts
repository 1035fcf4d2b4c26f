import { type Comment, parseSync, Visitor } from 'oxc-parser';

/** The parts of a source that people read as language. */
export interface Texts {
  /** One for each block, or for line comments that follow each other. */
  readonly comments: readonly string[];
  /** Strings and templates of four words or more, in which `…` stands for a value. */
  readonly strings: readonly string[];
  /** The first argument of `describe` and `it`, also of their `each`. */
  readonly titles: readonly string[];
}

/** They speak to tools. */
const directive = /^\s*(?:biome-ignore|@ts-|v8 ignore|\/ *<reference|!)/;

/** Without asterisks, links and tags such as `@throws`; code in backticks becomes one word. */
function proseOf(comment: string): string {
  return comment
    .replace(/^[ \t]*\*+[ \t]?/gm, '')
    .replace(/\{@link ([^}]*)\}/g, '$1')
    .replace(/@\w+/g, '')
    .replace(/`[^`]*`/g, 'code')
    .trim();
}

function commentsOf(source: string, comments: readonly Comment[]): string[] {
  const blocks: { prose: string; end: number; type: Comment['type'] }[] = [];
  for (const { value, start, end, type } of comments) {
    if (directive.test(value)) continue;
    const last = blocks.at(-1);
    const goesOn =
      last?.type === 'Line' && type === 'Line' && source.slice(last.end, start).trim() === '';
    if (goesOn) Object.assign(last, { prose: `${last.prose}\n${proseOf(value)}`, end });
    else blocks.push({ prose: proseOf(value), end, type });
  }
  return blocks.map(({ prose }) => prose);
}

const testFunction = /^(?:describe|it)\b/;

/** @param path names the language by its ending, `.ts` or `.mjs` */
export function textsOf(path: string, source: string): Texts {
  const { program, comments, errors } = parseSync(path, source);
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0]?.message}`);
  const strings: string[] = [];
  const titlesAt = new Set<number>();
  const titles: string[] = [];
  const add = (text: string, start: number) => {
    if (titlesAt.has(start)) titles.push(text);
    else if (text.trim().split(/\s+/).length >= 4) strings.push(text);
  };
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      if (first && testFunction.test(source.slice(callee.start, callee.end))) {
        titlesAt.add(first.start);
      }
    },
    Literal({ value, start }) {
      if (typeof value === 'string') add(value, start);
    },
    TemplateLiteral({ quasis, start }) {
      add(quasis.map(({ value }) => value.cooked ?? '').join('…'), start);
    },
  }).visit(program);
  return { comments: commentsOf(source, comments), strings, titles };
}
