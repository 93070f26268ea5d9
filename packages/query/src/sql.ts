/** SQL: parses statements into the intermediate form. */

export { clauseWords } from './sql/describe-clause.ts';
export { parseSql, type RowForm, type Tables } from './sql/parse.ts';
export { kindOfSchema, type SqlSchema } from './sql/types/kind.ts';
