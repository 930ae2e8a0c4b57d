//! Whom to believe: the authorities of this system, read when a server first has to prove who it is.
//!
//! Reading some hundred and fifty certificates takes longer than all the rest of starting a program,
//! and servers on the same machine need none of them. How a certificate is judged is left to
//! `rustls-platform-verifier`; nothing here decides that one is good.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// TLS that believes the authorities of this system.
pub(crate) fn tls() -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    let roots = SystemRoots { provider: Arc::clone(&provider), verifier: OnceLock::new() };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has what both versions need")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(roots))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

/// The system's verifier, once it is needed. That there are no authorities is told to whoever
/// connects, and every time.
#[derive(Debug)]
struct SystemRoots {
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Result<Verifier, Error>>,
}

impl SystemRoots {
    fn verifier(&self) -> Result<&Verifier, Error> {
        let verifier = self.verifier.get_or_init(|| Verifier::new(Arc::clone(&self.provider)));
        verifier.as_ref().map_err(Clone::clone)
    }
}

impl ServerCertVerifier for SystemRoots {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verifier = self.verifier()?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_read_when_a_server_shows_its_certificate_and_not_before() {
        let provider = Arc::new(ring::default_provider());
        let roots = SystemRoots { provider, verifier: OnceLock::new() };
        assert!(!roots.supported_verify_schemes().is_empty());
        assert!(roots.verifier.get().is_none());
        let name = ServerName::try_from("localhost").unwrap();
        let nonsense = CertificateDer::from(b"no certificate".as_slice());
        let verdict = roots.verify_server_cert(&nonsense, &[], &name, &[], UnixTime::now());
        assert!(verdict.is_err() && roots.verifier.get().is_some(), "{verdict:?}");
    }
}
