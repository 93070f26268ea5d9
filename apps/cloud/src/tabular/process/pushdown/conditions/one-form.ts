/**
 * Whether equal values of an expression look the same, in whichever file. 1, Int32 1 and Long 1 are one key of a group, and of equal
 * values the first row's is shown: where forms could mix, the order of rows decides, which only the executor keeps.
 */
import { BsonDocument, type Expr, isPathColumn, type Maybe, type TypeName, typeName } from '@platform/query';

/** Types of numbers that occur, and -0. */
type Form = TypeName | 'negative zero';

/** Whether values of all these expressions that are equal look the same. They are the same for all rows of a series. */
export function haveOneForm(expressions: readonly Expr[]): boolean {
  const forms = new Set<Form>();
  if (!expressions.every((expr) => addForms(expr, forms))) return false;
  return forms.size < 2 && !forms.has('decimal') && !forms.has('negative zero');
}

/** Of a key: of an object each field for itself. */
export function hasOneForm(expr: Expr): boolean {
  if (expr.k === 'doc') return expr.fields.every(([, value]) => hasOneForm(value));
  // There is but one value.
  return expr.k === 'lit' || haveOneForm([expr]);
}

const texts =
  'concat toLower toUpper substr substrBytes substrCP trim ltrim rtrim replaceOne replaceAll toString type split';
const truths = 'eq ne gt gte lt lte and or not in regexMatch toBool isArray isNumber';
const ofSql =
  'concat lower upper substring trim trimStart trimEnd replace split castString eq ne gt gte lt lte and or not in like isNull';
const withoutNumbers: ReadonlySet<string> = new Set([
  ...`${texts} ${truths}`.split(' ').map((name) => `agg.${name}`),
  ...ofSql.split(' ').map((name) => `sql.${name}`),
]);
const whole: Readonly<Record<string, Form>> = {
  'agg.strLenCP': 'int',
  'agg.strLenBytes': 'int',
  'agg.size': 'int',
  'agg.toInt': 'int',
  'agg.toLong': 'long',
};
/** Functions that give one of their arguments, and which. */
const choosing: Readonly<Record<string, (args: readonly Expr[]) => readonly Expr[]>> = {
  'agg.cond': branches,
  'agg.switch': branches,
  'sql.case': branches,
  'agg.ifNull': (args) => args,
  'agg.arrayElemAt': (args) => args.slice(0, 1),
};

/** Condition and value by turns, then what is left. */
function branches(args: readonly Expr[]): readonly Expr[] {
  return args.filter((_, index) => index % 2 === 1 || index === args.length - 1);
}

/** False when they are not known. */
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
      if (withoutNumbers.has(expr.fn)) return true;
      const form = whole[expr.fn];
      if (form !== undefined) forms.add(form);
      const chosen = choosing[expr.fn]?.(expr.args);
      return form !== undefined || chosen?.every((arg) => addForms(arg, forms)) === true;
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
