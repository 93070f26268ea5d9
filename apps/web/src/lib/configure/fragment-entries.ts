/** The history of a fragment: what each revision changed, in words. Pure. */
import type { JsonObject } from '@platform/machine-config/schema';
import { AuthenticationType, type FragmentHistoryEntry } from '@platform/proto/platform/app/v1/app';
import { dateOf } from '../ui/time.ts';
import { changeWords } from './change-words.ts';
import { type HistoryEntry, whoOf } from './history-entry.ts';

export interface FragmentEntry extends HistoryEntry {
  /** Undefined: it may not be read, or is no longer stored. */
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

export function fragmentEntryOf(one: FragmentHistoryEntry): FragmentEntry {
  const { revision, editedOn, config: after } = one;
  const before = one.old?.fragment ?? (revision === '1' ? {} : undefined);
  return {
    ...{ number: revision, at: dateOf(editedOn), who: editorOf(one), restored: '', before, after },
    what: wordsOf(before, after),
  };
}

function wordsOf(before: JsonObject | undefined, after: JsonObject | undefined): string {
  if (after === undefined) return 'saved it; what it had is no longer stored';
  if (before === undefined) return 'changed it; the revision before cannot be read';
  return changeWords(before, after);
}

/** Only people of the fragment's organization learn who edited it. A key is known by its id alone. */
function editorOf({ editedBy }: FragmentHistoryEntry): string {
  if (editedBy === undefined) return '';
  const { type, value } = editedBy;
  if (type === AuthenticationType.API_KEY) return whoOf('api-key', value.slice(0, 8));
  return whoOf(type === AuthenticationType.WEB_OAUTH ? 'person' : 'platform', value);
}
