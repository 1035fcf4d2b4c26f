import { simulate } from '/work/detection/test/simulation/run.ts';

const from = Number(process.argv[2] ?? 1),
  runs = Number(process.argv[3] ?? 100);
let bad = 0;
const t = Date.now();
for (let seed = from; seed < from + runs; seed++) {
  const f = await simulate(seed).catch((e) => ['threw ' + e.stack]);
  if (f.length) {
    bad++;
    if (bad <= 8) console.log(seed, f.slice(0, 4));
  }
}
console.log({ runs, bad, ms: Date.now() - t });
