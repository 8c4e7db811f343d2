/** Lists by a key. Pure. */

/** @template K, V @param {Map<K, V[]>} lists @param {K} key @param {V} item behind those of its key */
export function append(lists, key, item) {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
