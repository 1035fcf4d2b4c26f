/** The style sheet: light or dark by the reader's preference, legible from 360 to 1440 pixels. */
export const style = `
:root {
  color-scheme: light dark;
  --back: light-dark(#ffffff, #14171a);
  --panel: light-dark(#f4f6f8, #1c2126);
  --line: light-dark(#d4dae0, #363e46);
  --text: light-dark(#16191d, #e8ebee);
  --faint: light-dark(#56606a, #a3adb7);
  --link: light-dark(#0b57a4, #8ec2ff);
  --good: light-dark(#146c37, #6fd493);
  --warning: light-dark(#855300, #f0bd62);
  --bad: light-dark(#b3261e, #ff938a);
  --none: light-dark(#e6eaee, #262c32);
  font: 15px/1.5 system-ui, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem; z-index: 1; }
header, main { max-width: 80rem; margin: 0 auto; padding: .75rem 1rem; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; border-bottom: 1px solid var(--line); }
header p { margin: 0; }
.brand { font-weight: 600; }
.brand a { color: inherit; text-decoration: none; }
header ul { display: flex; flex-wrap: wrap; gap: .25rem .9rem; list-style: none; margin: 0; padding: 0; }
header li a { display: block; padding: .2rem 0; text-decoration: none; border-bottom: 2px solid transparent; }
header li a:hover { border-color: currentColor; }
header [aria-current] { color: var(--text); font-weight: 600; border-color: currentColor; }
.lookup { margin-left: auto; }
h1 { font-size: 1.4rem; margin: .5rem 0 1rem; }
h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
main:focus { outline: none; }
.verdict { font-size: 1.2rem; border-left: .35rem solid currentColor; padding: .25rem .9rem; margin: 0 0 1rem; }
.verdict::first-letter { text-transform: uppercase; }
.good { color: var(--good); } .warning { color: var(--warning); } .bad { color: var(--bad); }
.faint { color: var(--faint); } .strong { font-weight: 600; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .15rem 1rem; margin: 0 0 1rem; }
dl > div { display: contents; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
.scrolls { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; width: 100%; margin: .25rem 0 1rem; }
caption { text-align: left; color: var(--faint); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
pre, code { font: 13px/1.5 ui-monospace, monospace; }
pre { background: var(--panel); border: 1px solid var(--line); padding: .75rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
code { overflow-wrap: anywhere; }
form.fields { display: grid; gap: .75rem; max-width: 42rem; }
form.fields label { display: grid; gap: .15rem; }
form.fields label.check { display: flex; gap: .5rem; align-items: baseline; }
form.row { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: .5rem 0 1rem; }
form.row label { display: grid; gap: .1rem; color: var(--faint); font-size: .9rem; }
input, select, button { min-height: 2.15rem; }
input, select, textarea, button { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--faint); border-radius: .3rem; padding: .3rem .6rem; max-width: 100%; }
input[type=checkbox] { width: 1.05rem; height: 1.05rem; min-height: 0; }
button { background: var(--panel); cursor: pointer; white-space: nowrap; }
button:hover { border-color: var(--link); }
button.act { background: var(--link); border-color: var(--link); color: var(--back); font-weight: 600; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
td .buttons { flex-wrap: nowrap; gap: .35rem; margin: 0; }
td button { min-height: 0; padding: .1rem .5rem; font-size: .9rem; }
ul.plain { list-style: none; padding: 0; margin: 0 0 1rem; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; padding: .5rem 1rem; margin: 0 0 1rem; }
.panel > :first-child { margin-top: .25rem; } .panel > :last-child { margin-bottom: .25rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0 2rem; }
svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--faint); font: 11px system-ui, sans-serif; }
.scrolls > svg:not(.activity) { min-width: 56rem; width: 100%; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
svg .proven { fill: var(--good); } svg .empty { fill: var(--good); fill-opacity: .4; } svg .open { fill: var(--link); } svg .due { fill: var(--warning); }
svg.activity { max-width: none; }
svg .requests { fill: var(--faint); } svg .found { fill: var(--good); } svg .held { fill: var(--warning); } svg .failed { fill: var(--bad); }
svg .gap { fill: var(--warning); } svg .over { fill: transparent; } svg .over:hover { fill: var(--line); fill-opacity: .5; }
svg .unproven { fill: var(--bad); } svg .not-yet, svg .none { fill: var(--none); }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; margin: .25rem 0 1rem; }
.key svg { display: inline-block; vertical-align: -1px; }
@media (max-width: 40rem) {
  dl { grid-template-columns: minmax(5rem, 8.5rem) 1fr; }
  .scrolls table { min-width: 40rem; }
  .lookup { margin-left: 0; }
}
ol.timeline { list-style: none; margin: 0; padding: 0 0 0 1rem; border-left: 3px solid var(--line); }
ol.timeline > li { margin: 0 0 1rem; padding-left: .75rem; position: relative; }
ol.timeline > li::before { content: ""; position: absolute; left: -1.5rem; top: .4rem; width: .7rem; height: .7rem; border-radius: 50%; background: var(--faint); border: 2px solid var(--back); }
`;

export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#146c37"/><path d="M4.5 8.5 7 11l4.5-6" fill="none" stroke="#fff" stroke-width="2"/></svg>';
