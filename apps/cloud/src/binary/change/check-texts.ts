/** Validates tags and labels given by people and programs. */
import { invalidArgument } from '@platform/base';
import { requireSome } from '../../text-rules/require-at-most.ts';
import { maxLabelLength } from '../limits.ts';

const maxAtOnce = 100;

/** Returns distinct tags. @throws invalid_argument */
export function checkedTags(tags: readonly string[]): readonly string[] {
  requireSome('tags', maxAtOnce, tags.length, ' tags');
  return [...new Set(tags.map((tag) => checkedLabel(tag, 'tags')))];
}

/** @param what name of the field @throws invalid_argument */
export function checkedLabel(label: string, what: string): string {
  if (label.trim() !== '' && label.length <= maxLabelLength && !/\0/.test(label)) return label;
  throw invalidArgument(
    `${what}: expected 1 to ${maxLabelLength} characters, found ${label.trim() === '' ? 'none' : `${label.length}`}`,
  );
}
