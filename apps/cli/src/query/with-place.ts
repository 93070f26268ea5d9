/** Errors of a query with the place that they speak of: the line with a caret below the column, or the stage. */
import { asPlatformError, PlatformError } from '@platform/sdk/cloud';
import type { Context } from '../invocation/context.ts';
import { printable } from '../invocation/printable.ts';
import { cut, oneLine, widthOf } from '../invocation/table.ts';

export interface Asking {
  readonly text: string;
  /** The stages as one line each, where the cloud counts as they do. */
  readonly stages?: readonly string[];
}

/** Runs what asks. @throws what it throws, for people with the place below its message. */
export async function withPlace<T>({ out }: Context, asking: Asking, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (caught) {
    const error = asPlatformError(caught);
    const place = out.style.json === false ? placeIn(error.message, asking) : undefined;
    throw place === undefined ? caught : new PlatformError(error.code, `${error.message}\n${place}`, caught);
  }
}

const width = 76;

/** @returns undefined when the message names no place of this query. */
export function placeIn(message: string, { text, stages = [] }: Asking): string | undefined {
  const [, line = '', column = ''] = /^line (\d+), column (\d+): /.exec(message) ?? [];
  const found = text.split(/\r?\n/)[Number(line) - 1];
  if (line !== '' && found !== undefined) return withCaret(found, Number(column) - 1);
  const index = stageIn(message, stages);
  const stage = stages[index];
  return stage === undefined ? undefined : `  stage ${index}: ${cut(oneLine(stage), width)}`;
}

/** By its number, else by its name where only one is called so. @returns -1 for none */
function stageIn(message: string, stages: readonly string[]): number {
  const [, number, name = ''] = /^(?:stage (\d+)\b|at (\$\w+))/.exec(message) ?? [];
  if (number !== undefined) return Number(number);
  const isCalledSo = (stage: string): boolean => name !== '' && stage.startsWith(`{"${name}":`);
  const found = stages.findIndex(isCalledSo);
  return found === stages.findLastIndex(isCalledSo) ? found : -1;
}

/** A long line is cut on both sides. */
function withCaret(line: string, at: number): string {
  const start = at < width - 10 ? 0 : at - width / 2;
  const end = start + width;
  const [head, tail] = [start > 0 ? '…' : '', end < line.length ? '…' : ''];
  const before = head + spaced(line.slice(start, at));
  return `  ${before}${spaced(line.slice(at, end))}${tail}\n  ${' '.repeat(widthOf(before))}^`;
}

/** What is unsafe is spelled as escapes here already, so that the caret stands where it should. */
function spaced(text: string): string {
  return printable(text.replaceAll(/\s/g, ' '));
}
