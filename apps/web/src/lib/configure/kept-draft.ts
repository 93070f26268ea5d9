/** The draft of a configuration that was left without saving. */
import { objectOf } from '../api/object-of.ts';
import { keep, readKept } from '../ui/kept.ts';

export interface KeptDraft {
  /** The version that it is based on. */
  readonly version: number;
  readonly text: string;
}

const keyOf = (partId: string): string => `draft of ${partId}`;

export function readDraft(partId: string): KeptDraft | undefined {
  const { version, text } = objectOf(readKept(keyOf(partId)));
  return typeof version === 'number' && typeof text === 'string' ? { version, text } : undefined;
}

/** Undefined forgets it. */
export function keepDraft(partId: string, draft: KeptDraft | undefined): void {
  keep(keyOf(partId), draft);
}
