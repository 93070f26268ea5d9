/** SQL: statements read into the intermediate form. */

export { clauseWords } from './sql/clause-words.ts';
export { kindOfSchema, type SqlSchema } from './sql/kind.ts';
export { parseSql, type RowForm, type Tables } from './sql/parse.ts';
