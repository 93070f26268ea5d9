/** How many arguments the positional operators take: at least, at most. */

const any: number = Number.POSITIVE_INFINITY;

export const arities: Readonly<Record<string, readonly [number, number]>> = {
  $abs: [1, 1],
  $add: [0, any],
  $and: [0, any],
  $arrayElemAt: [2, 2],
  $ceil: [1, 1],
  $cmp: [2, 2],
  $concat: [0, any],
  $divide: [2, 2],
  $eq: [2, 2],
  $floor: [1, 1],
  $gt: [2, 2],
  $gte: [2, 2],
  $ifNull: [2, any],
  $in: [2, 2],
  $isArray: [1, 1],
  $isNumber: [1, 1],
  $lt: [2, 2],
  $lte: [2, 2],
  $mod: [2, 2],
  $multiply: [0, any],
  $ne: [2, 2],
  $not: [1, 1],
  $or: [0, any],
  $pow: [2, 2],
  $round: [1, 2],
  $size: [1, 1],
  $slice: [2, 3],
  $sqrt: [1, 1],
  $strLenCP: [1, 1],
  $substrCP: [3, 3],
  $subtract: [2, 2],
  $toBool: [1, 1],
  $toDate: [1, 1],
  $toDouble: [1, 1],
  $toInt: [1, 1],
  $toLong: [1, 1],
  $toLower: [1, 1],
  $toString: [1, 1],
  $toUpper: [1, 1],
  $trunc: [1, 2],
  $type: [1, 1],
};

/** Operators of the language that this version does not run: refused by name, unlike those that do not exist. */
export const laterOperators: ReadonlySet<string> = new Set(
  `acos acosh allElementsTrue anyElementTrue arrayToObject asin asinh atan atan2 atanh avg binarySize bitAnd bitNot bitOr bitXor
   bsonSize concatArrays convert cos cosh dateAdd dateDiff dateFromParts dateFromString dateSubtract dateToParts degreesToRadians
   exp first firstN getField indexOfArray indexOfBytes indexOfCP isoDayOfWeek isoWeek isoWeekYear last lastN ln log log10 ltrim max
   maxN median mergeObjects min minN objectToArray percentile radiansToDegrees rand range reduce regexFind regexFindAll regexMatch
   replaceAll replaceOne reverseArray rtrim sampleRate setDifference setEquals setField setIntersection setIsSubset setUnion sigmoid sin
   sinh sortArray split stdDevPop stdDevSamp strLenBytes strcasecmp substr substrBytes sum tan tanh toDecimal toObjectId toUUID trim
   tsIncrement tsSecond unsetField week zip`
    .split(/\s+/)
    .map((name) => `$${name}`),
);
