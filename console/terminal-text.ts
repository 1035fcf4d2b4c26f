import type { Html } from './html.ts';
import { html } from './library.ts';

/** The terminal's marks for tones, and the class of each. */
const classes: Readonly<Record<string, string>> = {
  '1': 'strong',
  '2': 'faint',
  '32': 'good',
  '33': 'warning',
  '31': 'bad',
};

const mark = '\u001B[';

/** The output of the command line as markup: marks become classes, and the text is escaped. */
export function terminalText(told: string): Html {
  const [first = '', ...marked] = told.split(mark);
  return html`<pre>${first}${marked.map(piece)}</pre>`;
}

/** The text behind a mark. */
function piece(marked: string): Html {
  const end = marked.indexOf('m');
  const text = marked.slice(end + 1);
  const tone = classes[marked.slice(0, end)];
  return tone === undefined ? html`${text}` : html`<span class="${tone}">${text}</span>`;
}
