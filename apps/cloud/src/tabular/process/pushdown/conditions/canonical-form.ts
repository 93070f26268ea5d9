/**
 * Whether equal values of an expression have the same form in every file. 1, Int32 1 and Long 1 are one group key, and the first row's
 * value is shown. If forms could mix, the order of rows would decide, and only the executor preserves it.
 */
import { BsonDocument, type Expr, functions, isPathColumn, type Maybe, type TypeName, typeName } from '@platform/query';

/** Types of numbers that occur, and -0. */
type Form = TypeName | 'negative zero';

/** Whether equal values of all these expressions have the same form. The expressions are constant for all rows of a series. */
export function haveCanonicalForm(expressions: readonly Expr[]): boolean {
  const forms = new Set<Form>();
  if (!expressions.every((expr) => addForms(expr, forms))) return false;
  return forms.size < 2 && !forms.has('decimal') && !forms.has('negative zero');
}

/** For a key: each field of an object is checked separately. */
export function hasCanonicalForm(expr: Expr): boolean {
  if (expr.k === 'doc') return expr.fields.every(([, value]) => hasCanonicalForm(value));
  // A literal has only one value.
  return expr.k === 'lit' || haveCanonicalForm([expr]);
}

/** False when the forms are unknown. */
function addForms(expr: Expr, forms: Set<Form>): boolean {
  switch (expr.k) {
    case 'lit':
      addValue(expr.value, forms);
      return true;
    case 'field':
      return isPathColumn(expr.path[0] ?? '') || expr.path[0] === 'tags';
    case 'doc':
      return expr.fields.every(([, value]) => addForms(value, forms));
    case 'call': {
      const types = functions.get(expr.fn)?.numberTypes;
      if (typeof types === 'function') return types(expr.args).every((arg) => addForms(arg, forms));
      if (types === 'int' || types === 'long') forms.add(types);
      return types !== undefined;
    }
    default:
      return false;
  }
}

const numeric: ReadonlySet<TypeName> = new Set<TypeName>(['int', 'long', 'double', 'decimal']);

function addValue(value: Maybe, forms: Set<Form>): void {
  if (Array.isArray(value)) for (const item of value) addValue(item, forms);
  else if (value instanceof BsonDocument) for (const item of value.values()) addValue(item, forms);
  else if (Object.is(value, -0)) forms.add('negative zero');
  else if (numeric.has(typeName(value))) forms.add(typeName(value));
}
