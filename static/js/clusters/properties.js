/**
 * The form of a cluster as Kafka's client properties. No DOM.
 *
 * @typedef {object} Filled
 * @property {string} servers
 * @property {string} protocol
 * @property {string} mechanism
 * @property {string} user
 * @property {string} password
 * @property {string} ca
 * @property {string} chain
 * @property {string} key
 * @property {string} properties a properties file, which counts alone where it is given
 */

/** @param {string} protocol */
export const usesTls = (protocol) => protocol === 'SSL' || protocol === 'SASL_SSL';
/** @param {string} protocol */
export const usesLogin = (protocol) => protocol.startsWith('SASL_');

/**
 * What the server is sent: an object, or the text that was pasted. Fields that the protocol does not use are left out,
 * whatever is in them.
 *
 * @param {Filled} filled
 * @returns {{[name: string]: string} | string}
 */
export function propertiesOf(filled) {
  if (filled.properties.trim()) return filled.properties;
  /** @type {{[name: string]: string}} */
  const known = { 'bootstrap.servers': filled.servers.trim(), 'security.protocol': filled.protocol };
  /** @param {string} name @param {string} value */
  const give = (name, value) => {
    if (value.trim()) known[name] = value;
  };
  if (usesTls(filled.protocol)) {
    give('ssl.truststore.certificates', filled.ca);
    give('ssl.keystore.certificate.chain', filled.chain);
    give('ssl.keystore.key', filled.key);
  }
  if (usesLogin(filled.protocol)) {
    known['sasl.mechanism'] = filled.mechanism;
    give('sasl.username', filled.user);
    give('sasl.password', filled.password);
  }
  return known;
}
