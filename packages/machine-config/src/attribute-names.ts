import type { Fields } from './fields.ts';

/** The names of a table, those of a nested one as `pins.a`. */
export function attributeNames(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.kind === 'object' && field.of !== undefined
      ? attributeNames(field.of).map((nested) => `${name}.${nested}`)
      : [name],
  );
}
