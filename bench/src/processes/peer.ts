/**
 * A process with DuckDB over a Parquet file. Four clients query it continuously from the first input line to the second; then it reports
 * `asked`, as JSON.
 */
import { createInterface } from 'node:readline';
import { openParquet } from '../../limits/typed-columns.ts';
import { askInTurns } from '../store/ask-in-turns.ts';
import { asked } from '../store/questions.ts';

using columns = await openParquet(process.argv[2] ?? '');
// Warms up, so that compilation is not measured.
for (const { peer } of asked) await columns.encoded(peer);
const lines = createInterface({ input: process.stdin });
const said = lines[Symbol.asyncIterator]();
process.stdout.write(`${JSON.stringify({ event: 'ready' })}\n`);
await said.next();
const over = new AbortController();
const asking = askInTurns(asked, ({ peer }) => columns.encoded(peer), over.signal);
await said.next();
over.abort();
const { latencies } = await asking;
lines.close();
process.stdout.write(`${JSON.stringify({ event: 'asked', latencies: [...latencies] })}\n`);
