/** Adds the position to errors of a query: the line with a caret below the column, or the stage. */
import { asPlatformError, PlatformError, printable } from '@platform/sdk/cloud';
import type { Context } from '../invocation/context.ts';
import { oneLine } from '../results/table.ts';
import { cut, widthOf } from '../results/text-width.ts';

export interface Asking {
  readonly text: string;
  /** The stages, one line each, if the cloud numbers them in the same way. */
  readonly stages?: readonly string[];
}

/** Runs a query. @throws its error; in text output with the position below the message */
export async function withPosition<T>({ out }: Context, asking: Asking, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (caught) {
    const error = asPlatformError(caught);
    const place = out.style.json === false ? positionIn(error.message, asking) : undefined;
    throw place === undefined ? caught : new PlatformError(error.code, `${error.message}\n${place}`, caught);
  }
}

const width = 76;

/** @returns undefined if the message names no position in this query */
export function positionIn(message: string, { text, stages = [] }: Asking): string | undefined {
  const [, line = '', column = ''] = /^line (\d+), column (\d+): /.exec(message) ?? [];
  const found = text.split(/\r?\n/)[Number(line) - 1];
  if (line !== '' && found !== undefined) return withCaret(found, Number(column) - 1);
  const index = stageIn(message, stages);
  const stage = stages[index];
  return stage === undefined ? undefined : `  stage ${index}: ${cut(oneLine(stage), width)}`;
}

/** Finds the stage by number, or by name if only one stage has it. @returns -1 for none */
function stageIn(message: string, stages: readonly string[]): number {
  const [, number, name = ''] = /^(?:stage (\d+)\b|at (\$\w+))/.exec(message) ?? [];
  if (number !== undefined) return Number(number);
  const isCalledSo = (stage: string): boolean => name !== '' && stage.startsWith(`{"${name}":`);
  const found = stages.findIndex(isCalledSo);
  return found === stages.findLastIndex(isCalledSo) ? found : -1;
}

/** A long line is truncated on both sides. */
function withCaret(line: string, at: number): string {
  const start = at < width - 10 ? 0 : at - width / 2;
  const end = start + width;
  const [head, tail] = [start > 0 ? '…' : '', end < line.length ? '…' : ''];
  const before = head + spaced(line.slice(start, at));
  return `  ${before}${spaced(line.slice(at, end))}${tail}\n  ${' '.repeat(widthOf(before))}^`;
}

/** Escapes unsafe characters here already, so that the caret is in the right place. */
function spaced(text: string): string {
  return printable(text.replaceAll(/\s/g, ' '));
}
