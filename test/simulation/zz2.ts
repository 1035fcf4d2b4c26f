import { simulate } from './run.ts';

const watch = process.argv[3];
const f = await simulate(Number(process.argv[2]), {
  ledger: (l) => {
    (globalThis as any).L = l;
    const c = l.commit.bind(l);
    const save = l.saveDays.bind(l),
      add = l.addToDays.bind(l),
      rec = l.recordSilently.bind(l),
      comp = l.complete.bind(l);
    l.commit = async (ch, e, n, d) => {
      const r = await c(ch, e, n, d);
      if (e.subject === watch)
        console.log(
          'commit',
          ch.kind,
          e.id,
          'day',
          e.data.assessment.certified_on,
          r ? 'ok' : 'conflict',
          d,
        );
      return r;
    };
    l.recordSilently = async (s, n) => {
      for (const x of s)
        if (String(x.assessment.id) === watch) console.log('silent', x.assessment.certified_on);
      return rec(s);
    };
    l.saveDays = async (e) => {
      for (const [d, x] of e) if (d === process.argv[4]) console.log('save', d, JSON.stringify(x));
      return save(e);
    };
    l.addToDays = async (e) => {
      for (const [d, x] of e) if (d === process.argv[4]) console.log('add', d, x);
      return add(e);
    };
    l.complete = async (a, b, ch) => {
      console.log('complete', JSON.stringify({ ...ch }));
      return comp(a, b, ch);
    };
    return l;
  },
});
console.log(f);
const L = (globalThis as any).L;
console.log(
  L.items.get(Number(watch))?.certification.day,
  L.days.get(L.items.get(Number(watch))?.certification.day),
);
