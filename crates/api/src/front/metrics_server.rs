//! `/metrics` of a process that has no front: the node that holds the books of a database.

use std::{net::SocketAddr, sync::Arc};

use tokio::{net::TcpListener, runtime::Runtime, sync::watch};

use super::{FrontError, MetricGauge, metrics::gauge_text};

/// The values that are shown; asked at each request.
pub type MetricSource = Arc<dyn Fn() -> Vec<MetricGauge> + Send + Sync>;

/// Answers until it is dropped.
#[derive(Debug)]
pub struct MetricsHandle {
    address: SocketAddr,
    /// Its receiver ends the server when this is gone.
    _stop: watch::Sender<bool>,
    runtime: Option<Runtime>,
}

impl MetricsHandle {
    /// Where it answers; its port is known here if the configuration said 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsHandle {
    fn drop(&mut self) {
        // A scrape in flight is not worth waiting for.
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

/// Answers `/metrics` at this address, and nothing else.
///
/// # Errors
/// If the address cannot be used.
pub fn serve_metrics(listen: SocketAddr, gauges: MetricSource) -> Result<MetricsHandle, FrontError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(FrontError::Runtime)?;
    let failed = |source| FrontError::Listen { address: listen, source };
    let listener = runtime.block_on(TcpListener::bind(listen)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let answer = move || {
        let text = gauge_text(&gauges());
        async move { ([(http::header::CONTENT_TYPE, "text/plain; version=0.0.4")], text) }
    };
    let router = axum::Router::new().route("/metrics", axum::routing::get(answer));
    let (stop, mut stopped) = watch::channel(false);
    runtime.spawn(async move {
        let served = axum::serve(listener, router).with_graceful_shutdown(async move {
            let _ = stopped.changed().await;
        });
        let _ = served.await;
    });
    Ok(MetricsHandle { address, _stop: stop, runtime: Some(runtime) })
}
