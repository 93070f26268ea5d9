/** A process with DuckDB over a Parquet file that four clients ask without a pause, until a line comes: then `asked`, as JSON. */
import { once } from 'node:events';
import { openParquet } from '../../limits/typed-columns.ts';
import { askInTurns } from '../store/ask-in-turns.ts';
import { asked } from '../store/questions.ts';

using columns = await openParquet(process.argv[2] ?? '');
const over = new AbortController();
void once(process.stdin, 'data').then(() => over.abort());
const { latencies } = await askInTurns(asked, ({ peer }) => columns.encoded(peer), over.signal);
process.stdin.destroy();
process.stdout.write(`${JSON.stringify({ event: 'asked', latencies: [...latencies] })}\n`);
