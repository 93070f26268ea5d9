/** Tags and labels, as people and programs give them. */
import { PlatformError } from '@platform/base';
import { maxLabelLength } from '../limits.ts';

const maxAtOnce = 100;

/** Each once. @throws invalid_argument */
export function checkedTags(tags: readonly string[]): readonly string[] {
  if (tags.length === 0 || tags.length > maxAtOnce)
    throw new PlatformError(
      'invalid_argument',
      `tags: expected 1 to ${maxAtOnce} tags, found ${tags.length === 0 ? 'none' : tags.length}`,
    );
  return [...new Set(tags.map((tag) => checkedLabel(tag, 'tags')))];
}

/** @param what names the field. @throws invalid_argument */
export function checkedLabel(label: string, what: string): string {
  if (label.trim() !== '' && label.length <= maxLabelLength && !/\0/.test(label)) return label;
  throw new PlatformError(
    'invalid_argument',
    `${what}: expected 1 to ${maxLabelLength} characters, found ${label.trim() === '' ? 'none' : `${label.length}`}`,
  );
}
