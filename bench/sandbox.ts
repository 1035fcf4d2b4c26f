import { startPartnerSandbox } from '../local/partner-sandbox/index.ts';

/** Measures the sandbox with large histories: `node bench/sandbox.ts [records]`, over real HTTP. */
const records = Number(process.argv[2] ?? 1_000_000);
const megabytes = () => Math.round(process.memoryUsage.rss() / 2 ** 20);

const before = performance.now();
const sandbox = await startPartnerSandbox({ records });
const started = performance.now() - before;
const { clientId, clientSecret } = sandbox.credentials;
const issued = await fetch(`${sandbox.url}/oauth/token`, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  }),
});
const { access_token } = JSON.parse(await issued.text());

async function list(query: string): Promise<void> {
  const response = await fetch(`${sandbox.url}/api/v1/ax/assessments?${query}`, {
    headers: { authorization: `Bearer ${access_token}` },
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`HTTP ${response.status} for ${query}`);
}

const figures: Record<string, { p50: string; p99: string }> = {};

async function measure(name: string, runs: number, act: (run: number) => unknown): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const from = performance.now();
    await act(run);
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => `${(times[Math.ceil(share * runs) - 1] ?? 0).toFixed(2)} ms`;
  figures[name] = { p50: at(0.5), p99: at(0.99) };
}

const last = Date.UTC(2026, 10, 20);
const dayBack = (run: number) =>
  new Date(last - ((run * 37) % 700) * 86_400_000).toISOString().slice(0, 10);
const oneDay = (run: number) =>
  `filter[start_date]=${dayBack(run)}&filter[end_date]=${dayBack(run)}`;
const range = 'filter[start_date]=2025-01-01&filter[end_date]=2026-01-31';

for (let run = 0; run < 300; run++) await list(`${oneDay(run)}&page=100`);

await measure('page of a day, by day', 500, (run) => list(`${oneDay(run)}&page=100`));
await measure('first request by name', 1, () => list('sort=user_name&page=1'));
await measure('page of a day, by name, first', 500, (run) =>
  list(`${oneDay(run)}&page=100&sort=user_name`),
);
await measure('page of a day, by name, next', 500, (run) =>
  list(`${oneDay(0)}&page=100&sort=user_name&offset=${100 * (run % 10)}`),
);
await measure('page of a day, one organization', 500, (run) =>
  list(`${oneDay(run)}&page=100&filter[organization_ids][]=308`),
);
await measure('newest page, unfiltered', 500, () => list('sort=certified_on&order=DESC&page=100'));
await measure('count of a range of 13 months', 500, () => list(`${range}&page=1`));
await measure('page of a month, by name', 100, (run) =>
  list(
    `filter[start_date]=2026-03-01&filter[end_date]=2026-03-31&sort=user_name&page=100&offset=${run * 90}`,
  ),
);
await measure('search through everything', 20, () => list('filter[search]=ada+quill&page=100'));
const ids: number[] = [];
await measure('add', 2000, () => {
  ids.push(sandbox.world.add().id);
});
await measure('move to another day', 2000, (run) =>
  sandbox.world.moveTo(ids[run] ?? 0, dayBack(run)),
);
await measure('remove', 2000, (run) => sandbox.world.remove(ids[run] ?? 0));
await measure('narrow the scope', 3, (run) =>
  sandbox.world.narrowScope({ organization_ids: [301 + 7 * run] }),
);

console.log(
  `${records} records: started in ${(started / 1000).toFixed(2)} s, RSS ${megabytes()} MB`,
);
console.table(figures);
await sandbox.close();
