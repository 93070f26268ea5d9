/** `platform logs`: the log of a machine's part: filtered, paged, followed. */
import { type LogEntry, systemClock, timestampFromDate } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choices } from '../invocation/choice.ts';
import { defineCommand } from '../invocation/define-command.ts';
import { readPages } from '../invocation/read-pages.ts';
import { sinceAndUntil } from '../invocation/time-range.ts';
import { limitOf } from '../invocation/whole-number.ts';
import { presenter, timeOf } from '../results/presenters.ts';
import { followLog } from './follow-log.ts';
import { fieldsOf, logLine } from './log-line.ts';

const { fields, shape } = presenter<LogEntry>({
  time: (one) => timeOf(one.time),
  level: (one) => one.level,
  logger: (one) => one.loggerName,
  message: (one) => one.message,
  host: (one) => one.host,
  stack: (one) => one.stack,
  fields: fieldsOf,
});
const levelNames = ['trace', 'debug', 'info', 'warn', 'error', 'dpanic', 'panic', 'fatal', 'critical'];
const pageSize = 500;
/** The most lines to catch up on after a lost connection. */
const maxCaughtUp = 10_000;

export function logsCommand(): Command {
  return defineCommand(
    new Command('logs')
      .description('print the log of a part, oldest first')
      .argument('<part>', 'id, Machine/part, or a machine (for its main part)')
      .addOption(choices('--level <levels>', 'only these levels, such as error,warn', levelNames))
      .option('--grep <text>', 'only lines that contain this text; /…/ for a regular expression')
      .option('--source <logger>', 'only lines of this logger')
      .option('--since <when>', 'only lines since this time: a duration such as 2h, or a time')
      .option('--until <when>', 'only lines before this time: a duration such as 1h, or a time')
      .option('--limit <number>', 'maximum number of lines; the newest are printed', '100')
      .option('--follow', 'keep printing new lines until Ctrl-C'),
    {
      examples: [
        'platform logs press-7 --level error,warn --since 2h',
        'platform logs press-7 --grep "/timeout|refused/" --limit 1000 --json',
        'platform logs press-7 --follow',
      ],
      fields,
    },
    async ({ cloud, find, out, progress, signal }, flags, text = '') => {
      const { id } = await find.part(text);
      const { app } = await cloud();
      const levels = (flags['level'] ?? []) as string[];
      const filter: string | undefined = flags['grep'];
      const limit = limitOf(flags['limit'], '--limit');
      const print = (entry: LogEntry): void => out.element(shape(entry), logLine(entry));

      const query = { id, levels, filter, source: flags['source'] };
      /** The newest lines, in order from oldest to newest. */
      const read = async (most: number, since?: Date, until?: Date): Promise<LogEntry[]> => {
        const times = { start: since && timestampFromDate(since), end: until && timestampFromDate(until) };
        const newestFirst = await readPages(most, pageSize, async (limit, pageToken) => {
          const page = await app.getRobotPartLogs({ ...query, ...times, limit: BigInt(limit), pageToken });
          return { items: page.logs, nextPageToken: page.nextPageToken };
        });
        return newestFirst.toReversed();
      };
      const printed = await read(limit, ...sinceAndUntil(flags));
      for (const entry of printed) print(entry);

      if (flags['follow'] !== true) return;
      progress.pause();
      const isAsked = ({ level, loggerName }: LogEntry): boolean => {
        const source = String(flags['source'] ?? '');
        return (
          (levels.length === 0 || levels.includes(level.toLowerCase())) &&
          (source === '' || loggerName === source || loggerName.startsWith(`${source}.`))
        );
      };
      await followLog({
        async *open(onHeader) {
          const coming = app.tailRobotPartLogs({ id, filter }, { timeoutMs: 0, onHeader: () => onHeader() });
          for await (const { logs } of coming) yield logs.filter(isAsked);
        },
        readFrom: (fromMs) => read(maxCaughtUp, fromMs === undefined ? undefined : new Date(fromMs)),
        printed,
        print,
        warn: (sentence) => out.warn(sentence),
        clock: systemClock,
        signal,
      });
    },
  );
}
