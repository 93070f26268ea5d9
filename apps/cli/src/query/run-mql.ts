/** Runs a pipeline, a saved query, or both, and prints the rows. */
import { invalidArgument } from '@platform/base/refusals';
import { PlatformError, parseStages, readRow, relaxedJson, TabularDataSourceType } from '@platform/sdk/cloud';
import type { Command } from 'commander';
import { choice } from '../invocation/choice.ts';
import type { Context } from '../invocation/context.ts';
import type { Flags } from '../invocation/define-command.ts';
import { pick } from '../invocation/find.ts';
import { readInput } from '../invocation/input.ts';
import type { Invocation } from '../settings.ts';
import { withPosition } from './error-position.ts';
import { answerOptions, formatOf, printAnswer } from './print-answer.ts';
import { runQuery } from './run-query.ts';
import { savedQueries } from './saved/saved-query.ts';

const sources: Readonly<Record<string, TabularDataSourceType>> = {
  standard: TabularDataSourceType.STANDARD,
  hot: TabularDataSourceType.HOT_STORAGE,
};

/** Options of the MQL commands. */
export function mqlOptions(command: Command): Command {
  return answerOptions(command).addOption(
    choice(
      '--data-source <source>',
      'standard: all readings (default); hot: only recent ones, where a hot store is configured',
      Object.keys(sources),
    ),
  );
}

export interface MqlRequest {
  /** The pipeline as it was typed. */
  readonly argument: string | undefined;
  /** Name of the saved query that runs first. */
  readonly saved: string | undefined;
}

/** @throws invalid_argument if there is neither a pipeline nor a saved query */
export async function runMql(context: Context, flags: Flags, { argument, saved }: MqlRequest): Promise<void> {
  const format = formatOf(context, flags);
  if (argument === undefined && saved === undefined)
    throw invalidArgument('expected a pipeline, --saved NAME or both, found neither');
  if (saved === '') throw invalidArgument('expected the name of a saved query, found an empty string');
  const source = sources[String(flags['dataSource'])];
  const asked = { context, dataDir: flags['data'], explain: flags['explain'] === true };
  const mqlBinary = argument === undefined ? [] : await readStages(context, argument);
  const dataSource = source === undefined ? {} : { dataSource: { type: source } };
  // With a saved query, the cloud's stage numbers include its stages.
  const counted = saved === undefined ? mqlBinary : [];
  const ask = (queryPrefixName: string | undefined) =>
    runQuery(asked, (data, organizationId, options) =>
      data.tabularDataByMQL({ organizationId, mqlBinary, queryPrefixName, ...dataSource }, options),
    );
  const answer = await withStages(context, counted, () =>
    ask(saved).catch(async (caught: unknown) => {
      if (saved === undefined || !(caught instanceof PlatformError) || caught.code !== 'not_found') throw caught;
      // By id, or the error names similar ones.
      const { name } = pick('saved query', saved, await savedQueries(context));
      if (name === saved) throw caught;
      return ask(name);
    }),
  );
  await printAnswer(context, asked.explain ? 'explained' : format, answer);
}

/** Parses a pipeline into its wire form. @throws invalid_argument with the position of the mistake */
export async function readStages(context: Context, argument: string): Promise<Uint8Array[]> {
  const text = await queryText(argument, context.invocation);
  return withPosition(context, { text }, async () => parseStages(text));
}

/** Runs a call that sends these stages. @throws its error, with the stage that the error names */
export function withStages<T>(context: Context, stages: readonly Uint8Array[], run: () => Promise<T>): Promise<T> {
  return withPosition(context, { text: '', stages: stages.map((bson) => relaxedJson(readRow(bson))) }, run);
}

/** The text of a query: the argument itself, the file after `@`, or standard input for `-`. @throws invalid_argument */
export async function queryText(argument: string, invocation: Invocation): Promise<string> {
  if (argument === '-') return readInput('-', invocation);
  return argument.startsWith('@') ? readInput(argument.slice(1), invocation) : argument;
}
