/** FLATTEN: fields of nested documents become columns with joined names. */

import { call, type Expr, field, literal } from '../../plan/expr.ts';
import type { From } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { documentKind, type Kind, maybeMissing } from '../types/kind.ts';
import { site } from './lower.ts';
import { type Rows, wrapped } from './rows.ts';
import { fieldsOf, type Source, type Typed } from './scope.ts';

export function compileFlatten(from: From & { k: 'flatten' }, inner: Rows): Rows {
  const rows = inner.sources.length === 1 ? inner : wrapped(inner);
  const flat = rows.sources.map((source): readonly [Source, Typed] => [source, flattened(source, from)]);
  const [only] = flat;
  const whole: Expr =
    flat.length === 1 ? only![1].expr : { k: 'doc', fields: flat.map(([{ name }, { expr }]) => [name, expr]) };
  const sources = flat.map(
    ([{ name }, { kind }]): Source => ({ name, doc: flat.length === 1 ? field() : field(name), kind }),
  );
  return { ...rows, stages: [...rows.stages, { k: 'replace', with: whole }], sources };
}

/**
 * If the schema is complete, each column is written out. Values about which nothing is known are flattened at run time; a document that is
 * known in part cannot be flattened.
 */
function flattened(source: Source, from: From & { k: 'flatten' }): Typed {
  const depth = from.depth ?? Number.POSITIVE_INFINITY;
  const columns: [string, Typed][] = [];
  const add = (value: Typed, prefix: string, level: number): boolean => {
    if (value.kind.types === undefined || value.kind.assumed === true) return false;
    if (value.kind.open === true) {
      const name = prefix === '' ? source.name : prefix.slice(0, -from.separator.length);
      throw fault(
        from.at,
        `${name} may have more fields than are known`,
        'FLATTEN must know them: select them by name',
      );
    }
    for (const [name, known] of value.kind.fields ?? []) {
      const each = fieldsOf(value, [name], from.at);
      const column = prefix + name;
      if (known.types === undefined && level < depth) return false;
      const types = [...(known.types ?? [])].filter((type) => type !== 'null' && type !== 'missing');
      if (level < depth && types.includes('object')) {
        if (types.length > 1)
          throw fault(
            from.at,
            `${column} may be a document and ${types.filter((type) => type !== 'object').join(', ')}`,
            'it cannot be flattened',
          );
        const optional = known.types!.size > 1 ? { ...each, kind: optionalFields(known) } : each;
        if (!add(optional, column + from.separator, level + 1)) return false;
      } else if (columns.some(([other]) => other === column)) {
        throw fault(from.at, `two fields become ${column} when flattened`, 'choose another separator');
      } else columns.push([column, each]);
    }
    return true;
  };
  if (add({ expr: source.doc, kind: source.kind }, '', 0)) {
    const kind = documentKind(columns.map(([name, value]) => [name, value.kind]));
    return { expr: { k: 'doc', fields: columns.map(([name, value]) => [name, value.expr]) }, kind };
  }
  const args = [source.doc, literal(from.separator), literal(from.depth ?? null)];
  return { expr: call('sql.flatten', args, site(from.at)), kind: documentKind(knownColumns(source.kind), true) };
}

function optionalFields(kind: Kind): Kind {
  return documentKind(
    [...(kind.fields ?? [])].map(([name, each]) => [name, maybeMissing(each)]),
    kind.open,
  );
}

/** Columns that the schema declares not to be documents. */
function knownColumns(kind: Kind): [string, Kind][] {
  return [...(kind.fields ?? [])].filter(([, { types }]) => types !== undefined && !types.has('object'));
}
