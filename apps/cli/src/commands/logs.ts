/** `platform logs`: the log of a machine's part: filtered, paged, followed. */
import { type JsonObject, type LogEntry, PlatformError, timestampFromDate } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choices } from '../invocation/choice.ts';
import { leaf } from '../invocation/leaf.ts';
import { timeOf } from '../invocation/shapes.ts';
import { timeBefore } from '../invocation/when.ts';

const fields = ['time', 'level', 'logger', 'message', 'host', 'stack', 'fields'];
const levelNames = ['trace', 'debug', 'info', 'warn', 'error', 'dpanic', 'panic', 'fatal', 'critical'];
const pageSize = 500;

export function logsCommand(): Command {
  return leaf(
    new Command('logs')
      .description('print the log of a part, oldest first')
      .argument('<part>', 'id, Machine/part, or a machine for its main part')
      .addOption(choices('--level <levels>', 'only these, such as error,warn', levelNames))
      .option('--grep <text>', 'only lines that contain this; /expression/ for a regular expression')
      .option('--source <logger>', 'only lines of this logger')
      .option('--since <when>', 'a span such as 2h, or a time')
      .option('--until <when>', 'a span such as 1h, or a time')
      .option('--limit <number>', 'at most so many lines, the newest', '100')
      .option('--follow', 'go on with new lines until Ctrl-C'),
    {
      examples: [
        'platform logs press-7 --level error,warn --since 2h',
        'platform logs press-7 --grep "/timeout|refused/" --limit 1000 --json',
        'platform logs press-7 --follow',
      ],
      fields,
    },
    async ({ cloud, find, out, patience, signal }, flags, text = '') => {
      const { id } = await find.part(text);
      const { app } = await cloud();
      const levels = (flags['level'] ?? []) as string[];
      const filter = flags['grep'] === undefined ? {} : { filter: String(flags['grep']) };
      const limit = Number(flags['limit']);
      if (!Number.isSafeInteger(limit) || limit < 1)
        throw new PlatformError(
          'invalid_argument',
          `--limit: expected a whole number from 1, found "${flags['limit']}"`,
        );
      const print = (entry: LogEntry): void => out.element(shape(entry), lineOf(entry));

      const newestFirst: LogEntry[] = [];
      let pageToken = '';
      do {
        const page = await app.getRobotPartLogs(
          {
            id,
            levels,
            ...filter,
            limit: BigInt(Math.min(pageSize, limit - newestFirst.length)),
            ...(flags['source'] === undefined ? {} : { source: String(flags['source']) }),
            ...(flags['since'] === undefined
              ? {}
              : { start: timestampFromDate(timeBefore(String(flags['since']), '--since')) }),
            ...(flags['until'] === undefined
              ? {}
              : { end: timestampFromDate(timeBefore(String(flags['until']), '--until')) }),
            ...(pageToken === '' ? {} : { pageToken }),
          },
          { signal },
        );
        newestFirst.push(...page.logs);
        pageToken = page.nextPageToken;
      } while (pageToken !== '' && newestFirst.length < limit);
      for (const entry of newestFirst.toReversed()) print(entry);

      if (flags['follow'] !== true) return;
      patience.pause();
      for await (const { logs } of app.tailRobotPartLogs({ id, ...filter }, { signal, timeoutMs: 0 }))
        for (const entry of logs) if (levels.length === 0 || levels.includes(entry.level.toLowerCase())) print(entry);
    },
  );
}

function shape(entry: LogEntry): JsonObject {
  return {
    time: timeOf(entry.time),
    level: entry.level,
    logger: entry.loggerName,
    message: entry.message,
    host: entry.host,
    stack: entry.stack,
    fields: entry.fields,
  };
}

function lineOf(entry: LogEntry): string {
  const stack = entry.stack === '' ? '' : `\n${entry.stack}`;
  return `${timeOf(entry.time)}  ${entry.level.toUpperCase().padEnd(5)}  ${entry.loggerName}  ${entry.message}${stack}`;
}
