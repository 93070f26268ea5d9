/** Regular expressions of users: they run in linear time, and therefore have no look-around and no back-references (D20). */
import { RE2JS, RE2JSException } from 're2js';
import { describe } from './json.ts';

/** The compiled form can be a thousand times as large. */
const maxPatternLength = 1_024;

/** Whether the expression matches anywhere in a text. @param options of `i`, `m` and `s` @returns what is wrong with it as a text */
export function compilePattern(source: string, options = ''): ((text: string) => boolean) | string {
  if (source.length > maxPatternLength)
    return `expected a regular expression of at most ${maxPatternLength} characters, found ${source.length}`;
  let flags = 0;
  for (const option of options) {
    if (option === 'i') flags |= RE2JS.CASE_INSENSITIVE;
    else if (option === 'm') flags |= RE2JS.MULTILINE;
    else if (option === 's') flags |= RE2JS.DOTALL;
    else return `expected the regular expression options i, m or s, found '${option}'`;
  }
  try {
    const pattern = RE2JS.compile(source, flags);
    return (text) => pattern.matcher(text).find();
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return `expected a regular expression, found ${describe(source)}: ${error.message} (look-around and back-references are not supported)`;
  }
}
